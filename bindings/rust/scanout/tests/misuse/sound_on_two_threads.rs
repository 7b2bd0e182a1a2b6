// E0499
use scanout::*;
pub fn f(mut sound: Sound) {
    std::thread::scope(|scope| {
        scope.spawn(|| sound.next(None).is_ok());
        scope.spawn(|| sound.next(None).is_ok());
    });
}
