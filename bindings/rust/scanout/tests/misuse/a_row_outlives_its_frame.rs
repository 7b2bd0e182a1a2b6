// E0505
use scanout::*;
pub fn f(frame: Frame, fence: std::os::unix::io::OwnedFd) -> u8 {
    let row = frame.plane(0).unwrap().row(0);
    frame.release_after(fence);
    row[0]
}
