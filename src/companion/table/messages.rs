//! Arrow's messages, looked at before Arrow's reader gets them: it panics where a message says that its buffers lie
//! outside it, and asks for as much memory as a compressed buffer says it takes.

use std::io::{Cursor, Error, ErrorKind, Read, Result};

use arrow_ipc::{MessageHeader, RecordBatch, root_as_message};

use super::common::may_unpack_to;

/// Stands before a message's length in all but the oldest files.
const MARKER: [u8; 4] = [0xff; 4];

/// A stream of messages, in which an unsound one is an error.
pub struct Checked<R> {
    input: R,
    message: Cursor<Vec<u8>>,
}

impl<R: Read> Checked<R> {
    pub fn new(input: R) -> Self {
        Self {
            input,
            message: Cursor::default(),
        }
    }

    /// The next message with all that belongs to it. One that is cut short, or no message at all, is left to the
    /// reader, which says so.
    fn next(&mut self) -> Result<Vec<u8>> {
        let mut bytes = self.take(4)?;
        if bytes == MARKER {
            bytes.append(&mut self.take(4)?);
        }
        let length = bytes
            .last_chunk()
            .map_or(0, |last| i32::from_le_bytes(*last));
        let metadata = self.take(length.into())?;
        let mut body = Vec::new();
        if let Ok(message) = root_as_message(&metadata) {
            body = self.take(message.bodyLength())?;
            let batch = match message.header_type() {
                MessageHeader::DictionaryBatch => message
                    .header_as_dictionary_batch()
                    .and_then(|dictionary| dictionary.data()),
                _ => message.header_as_record_batch(),
            };
            if batch.is_some_and(|batch| !is_sound(batch, &body)) {
                let reason = "the buffers of a message do not lie in it, or are too large";
                return Err(Error::new(ErrorKind::InvalidData, reason));
            }
        }
        bytes.extend(metadata);
        bytes.append(&mut body);
        Ok(bytes)
    }

    /// As many bytes, or all that are left.
    fn take(&mut self, bytes: i64) -> Result<Vec<u8>> {
        let mut taken = Vec::new();
        let most = bytes.try_into().unwrap_or(0);
        (&mut self.input).take(most).read_to_end(&mut taken)?;
        Ok(taken)
    }
}

fn is_sound(batch: RecordBatch<'_>, body: &[u8]) -> bool {
    batch.buffers().into_iter().flatten().all(|buffer| {
        let lies = |at: i64| usize::try_from(at).unwrap_or(usize::MAX);
        let data = body.get(lies(buffer.offset())..);
        let data = data.and_then(|rest| rest.get(..lies(buffer.length())));
        data.is_some_and(|data| match (batch.compression(), data.first_chunk()) {
            (Some(_), Some(size)) => match u64::try_from(i64::from_le_bytes(*size)) {
                Ok(size) => may_unpack_to(size, data.len() as u64),
                // It says by -1 that it is not compressed.
                Err(_) => true,
            },
            _ => true,
        })
    })
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, to: &mut [u8]) -> Result<usize> {
        if self.message.position() == self.message.get_ref().len() as u64 {
            self.message = Cursor::new(self.next()?);
        }
        self.message.read(to)
    }
}
