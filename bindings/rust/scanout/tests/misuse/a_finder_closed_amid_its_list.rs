// E0505
use scanout::*;
pub fn f(mut finder: Finder) -> usize {
    let frames = finder.frames_at(&[0]).unwrap();
    drop(finder);
    frames.count()
}
