// E0594
use scanout::*;
pub fn f(frame: &Frame) {
    frame.plane(0).unwrap().row(0)[0] = 1;
}
