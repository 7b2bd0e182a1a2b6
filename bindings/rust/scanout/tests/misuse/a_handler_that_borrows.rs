// E0597
use scanout::*;
pub fn f(player: &Player) -> Result<()> {
    let flag = std::sync::atomic::AtomicBool::new(false);
    let flag = &flag;
    player.on_frame_available(Some(Box::new(move || flag.store(true, std::sync::atomic::Ordering::Relaxed))))
}
