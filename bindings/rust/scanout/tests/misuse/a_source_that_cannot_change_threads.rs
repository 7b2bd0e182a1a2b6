// E0277
use scanout::*;
struct Bytes(std::rc::Rc<[u8]>);
impl Source for Bytes {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        bytes[0] = self.0[0];
        Ok(1)
    }
}
