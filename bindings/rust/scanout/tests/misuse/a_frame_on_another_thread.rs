// compiles
use scanout::*;
pub fn f(player: Player) -> Result<()> {
    let frame = player.next_frame(None)?.unwrap();
    drop(player);
    std::thread::spawn(move || frame.to_vec()).join().unwrap()?;
    Ok(())
}
