// E0505
use scanout::*;
pub fn f(player: Player) -> usize {
    let frames = player.frames();
    drop(player);
    frames.count()
}
