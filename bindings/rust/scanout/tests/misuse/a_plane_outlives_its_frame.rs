// E0505
use scanout::*;
pub fn f(frame: Frame) -> u8 {
    let plane = frame.plane(0).unwrap();
    drop(frame);
    plane.row(0)[0]
}
