use crate::error::{Error, ErrorKind, Result};
use scanout_sys as sys;

/// The visible part of one plane of a frame, for reading, where the decoder wrote it. Borrowed from the frame.
#[derive(Clone, Copy)]
pub struct Plane<'frame> {
    bytes: &'frame [u8],
    pitch: usize,
    row_size: usize,
    info: &'frame sys::scanout_plane,
}

impl<'frame> Plane<'frame> {
    /// Refuses a description that lies outside the memory.
    pub(crate) fn new(memory: &'frame [u8], info: &'frame sys::scanout_plane) -> Result<Self> {
        let (pitch, rows) = (info.pitch as usize, info.visible_height as usize);
        let row_size = (info.visible_width as usize * info.bits as usize + 7) / 8;
        let start = info.visible_offset as usize;
        let count = if rows == 0 { 0 } else { (rows - 1) * pitch + row_size };
        let bytes = start.checked_add(count).and_then(|end| memory.get(start..end)).filter(|_| row_size <= pitch || rows <= 1);
        match bytes {
            Some(bytes) => Ok(Plane { bytes, pitch, row_size, info }),
            None => Err(Error::new(ErrorKind::Internal, "A plane lies outside the frame's memory.")),
        }
    }

    /// Sample positions in a row.
    pub fn width(&self) -> u32 {
        self.info.visible_width
    }

    /// Rows.
    pub fn height(&self) -> u32 {
        self.info.visible_height
    }

    /// Bytes from one row to the next.
    pub fn pitch(&self) -> usize {
        self.pitch
    }

    /// Bits from one sample position to the next.
    pub fn bits(&self) -> u32 {
        self.info.bits
    }

    /// Components that share them evenly: 1 in yuv420p, 2 in NV12's second plane; 0: it is not so simple.
    pub fn components(&self) -> u32 {
        self.info.components
    }

    /// From the first visible byte to the last, with what lies between the rows.
    pub fn bytes(&self) -> &'frame [u8] {
        self.bytes
    }

    /// The visible bytes of a row. Panics where there is no such row.
    pub fn row(&self, index: usize) -> &'frame [u8] {
        assert!(index < self.height() as usize, "row {index} of {}", self.height());
        &self.bytes[index * self.pitch..][..self.row_size]
    }

    /// A row of a format with more than 8 bits as numbers; None where samples do not lie in pairs of bytes.
    pub fn row_of_u16(&self, index: usize) -> Option<&'frame [u16]> {
        if self.info.components == 0 || self.info.bits != 16 * self.info.components {
            return None;
        }
        // SAFETY: every two bytes are a number.
        let (before, numbers, after) = unsafe { self.row(index).align_to::<u16>() };
        if before.is_empty() && after.is_empty() {
            Some(numbers)
        } else {
            None
        }
    }

    /// The rows from the top.
    pub fn rows(&self) -> Rows<'frame> {
        Rows { plane: *self, next: 0 }
    }
}

/// The rows of a plane.
pub struct Rows<'frame> {
    plane: Plane<'frame>,
    next: usize,
}

impl<'frame> Iterator for Rows<'frame> {
    type Item = &'frame [u8];

    fn next(&mut self) -> Option<&'frame [u8]> {
        if self.next >= self.plane.height() as usize {
            return None;
        }
        self.next += 1;
        Some(self.plane.row(self.next - 1))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.plane.height() as usize - self.next;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Rows<'_> {}
