// E0597
use scanout::*;
pub fn f() -> Result<Player> {
    let bytes = vec![0; 100];
    Player::open_memory(&bytes[..], "film", &Options::default())
}
