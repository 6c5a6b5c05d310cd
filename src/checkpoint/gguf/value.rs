//! The values of a GGUF file's key-value pairs, and the numbers and texts that they are made of, read and written.
//!
//! Counts and lengths come from outside: each is compared with the bytes that are there before anything is kept of it.

use std::io::{self, Write};

/// Longest text, and most elements of a list, as llama.cpp has it.
const LONGEST: u64 = 1 << 30;

/// A value of a key-value pair.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    U8(u8),
    I8(i8),
    U16(u16),
    I16(i16),
    U32(u32),
    I32(i32),
    F32(f32),
    Bool(bool),
    String(String),
    /// Values of one type, none of them a list: llama.cpp reads no others.
    Array(Vec<Value>),
    U64(u64),
    I64(i64),
    F64(f64),
}

/// Why bytes are no GGUF header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It goes on past these bytes.
    CutShort,
    /// Whatever follows these bytes, it is none.
    Broken(String),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::CutShort => f.write_str("its GGUF header is cut short"),
            Self::Broken(reason) => write!(f, "its GGUF header is broken ({reason})"),
        }
    }
}

type Result<T> = std::result::Result<T, Fault>;

/// Takes a header's parts from its bytes, front to back.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    /// Bytes of a length or a count: 4 in the first version of the format, 8 since.
    pub(super) width: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            width: 8,
        }
    }

    /// Bytes that are not taken yet.
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn take(&mut self, bytes: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(bytes).ok_or(Fault::CutShort)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(Fault::CutShort)?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A number as wide as lengths are.
    pub(super) fn wide(&mut self) -> Result<u64> {
        match self.width {
            4 => self.u32().map(u64::from),
            _ => self.u64(),
        }
    }

    /// How many things of at least so many bytes follow, all of which must be here.
    pub(super) fn count(&mut self, bytes: usize) -> Result<usize> {
        let count = self.wide()?;
        match usize::try_from(count).ok().filter(|_| count <= LONGEST) {
            None => Err(Fault::Broken(format!("it counts {count} elements"))),
            Some(count) if count.saturating_mul(bytes) > self.left() => Err(Fault::CutShort),
            Some(count) => Ok(count),
        }
    }

    /// A text. Some files end theirs with zeros, and some hold what is no UTF-8.
    pub(super) fn string(&mut self) -> Result<String> {
        let length = self.count(1)?;
        let mut bytes = self.take(length)?;
        while let [start @ .., 0] = bytes {
            bytes = start;
        }
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }

    pub(super) fn value(&mut self) -> Result<Value> {
        match self.u32()? {
            LIST => {
                let kind = self.u32()?;
                let least = least_bytes(kind, self.width)?;
                (0..self.count(least)?)
                    .map(|_| self.scalar(kind))
                    .collect::<Result<_>>()
                    .map(Value::Array)
            }
            kind => self.scalar(kind),
        }
    }

    fn scalar(&mut self, kind: u32) -> Result<Value> {
        Ok(match kind {
            0 => Value::U8(u8::from_le_bytes(self.array()?)),
            1 => Value::I8(i8::from_le_bytes(self.array()?)),
            2 => Value::U16(u16::from_le_bytes(self.array()?)),
            3 => Value::I16(i16::from_le_bytes(self.array()?)),
            4 => Value::U32(self.u32()?),
            5 => Value::I32(i32::from_le_bytes(self.array()?)),
            6 => Value::F32(f32::from_le_bytes(self.array()?)),
            7 => match self.array()? {
                [0] => Value::Bool(false),
                [1] => Value::Bool(true),
                [other] => return Err(Fault::Broken(format!("{other} is neither true nor false"))),
            },
            8 => Value::String(self.string()?),
            10 => Value::U64(self.u64()?),
            11 => Value::I64(i64::from_le_bytes(self.array()?)),
            12 => Value::F64(f64::from_le_bytes(self.array()?)),
            other => return Err(no_type(other)),
        })
    }
}

/// The type of a list of values.
const LIST: u32 = 9;

fn no_type(kind: u32) -> Fault {
    Fault::Broken(match kind {
        LIST => "it holds a list of lists".into(),
        _ => format!("{kind} is no type of a value"),
    })
}

/// The least that a value in a list takes, where a text's length takes `width` bytes.
fn least_bytes(kind: u32, width: usize) -> Result<usize> {
    match kind {
        0 | 1 | 7 => Ok(1),
        2 | 3 => Ok(2),
        4..=6 => Ok(4),
        8 => Ok(width),
        10..=12 => Ok(8),
        other => Err(no_type(other)),
    }
}

impl Value {
    /// A text.
    pub(super) fn text(text: &str) -> Self {
        Self::String(text.to_owned())
    }

    /// A count, which llama.cpp wants as u32.
    pub(super) fn count(count: usize) -> Self {
        Self::U32(u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// The text that it is.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The list that it is.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Self::Array(values) => Some(values),
            _ => None,
        }
    }

    /// Whether it is true or false.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(is) => Some(*is),
            _ => None,
        }
    }

    /// The f32 that it is.
    pub fn as_f32(&self) -> Option<f32> {
        match self {
            Self::F32(x) => Some(*x),
            _ => None,
        }
    }

    /// The i32 that it is.
    pub fn as_i32(&self) -> Option<i32> {
        match self {
            Self::I32(x) => Some(*x),
            _ => None,
        }
    }

    /// The whole number from 0 up that it is, whichever type holds it.
    pub fn as_u32(&self) -> Option<u32> {
        match *self {
            Self::U8(x) => Some(x.into()),
            Self::I8(x) => x.try_into().ok(),
            Self::U16(x) => Some(x.into()),
            Self::I16(x) => x.try_into().ok(),
            Self::U32(x) => Some(x),
            Self::I32(x) => x.try_into().ok(),
            Self::U64(x) => x.try_into().ok(),
            Self::I64(x) => x.try_into().ok(),
            _ => None,
        }
    }

    /// The format's number of its type.
    fn kind(&self) -> u32 {
        match self {
            Self::U8(_) => 0,
            Self::I8(_) => 1,
            Self::U16(_) => 2,
            Self::I16(_) => 3,
            Self::U32(_) => 4,
            Self::I32(_) => 5,
            Self::F32(_) => 6,
            Self::Bool(_) => 7,
            Self::String(_) => 8,
            Self::Array(_) => LIST,
            Self::U64(_) => 10,
            Self::I64(_) => 11,
            Self::F64(_) => 12,
        }
    }

    /// Writes its type, then itself.
    ///
    /// # Errors
    /// A list holds values of several types, or lists; or as `out`.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&self.kind().to_le_bytes())?;
        let Self::Array(values) = self else {
            return self.write_bare(out);
        };
        // Whatever an empty list is of.
        let kind = values.first().map_or(4, Self::kind);
        if values.iter().any(|value| value.kind() != kind) {
            return Err(io::Error::other("a list in GGUF is of values of one type"));
        }
        out.write_all(&kind.to_le_bytes())?;
        out.write_all(&(values.len() as u64).to_le_bytes())?;
        values.iter().try_for_each(|value| value.write_bare(out))
    }

    fn write_bare(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::U8(x) => out.write_all(&x.to_le_bytes()),
            Self::I8(x) => out.write_all(&x.to_le_bytes()),
            Self::U16(x) => out.write_all(&x.to_le_bytes()),
            Self::I16(x) => out.write_all(&x.to_le_bytes()),
            Self::U32(x) => out.write_all(&x.to_le_bytes()),
            Self::I32(x) => out.write_all(&x.to_le_bytes()),
            Self::F32(x) => out.write_all(&x.to_le_bytes()),
            Self::Bool(is) => out.write_all(&[u8::from(*is)]),
            Self::String(text) => write_string(out, text),
            Self::Array(_) => Err(io::Error::other("GGUF has no list of lists")),
            Self::U64(x) => out.write_all(&x.to_le_bytes()),
            Self::I64(x) => out.write_all(&x.to_le_bytes()),
            Self::F64(x) => out.write_all(&x.to_le_bytes()),
        }
    }
}

/// Writes a text after its length.
pub(super) fn write_string(out: &mut impl Write, text: &str) -> io::Result<()> {
    out.write_all(&(text.len() as u64).to_le_bytes())?;
    out.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: &Value) -> Vec<u8> {
        let mut bytes = Vec::new();
        value.write(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn every_type_is_read_as_it_was_written() {
        let all = [
            Value::U8(200),
            Value::I8(-100),
            Value::U16(60_000),
            Value::I16(-30_000),
            Value::U32(4_000_000_000),
            Value::I32(-2_000_000_000),
            Value::F32(0.1),
            Value::Bool(true),
            Value::String("naïve".into()),
            Value::U64(1 << 63),
            Value::I64(i64::MIN),
            Value::F64(0.1),
        ];
        for value in &all {
            for value in [
                value.clone(),
                Value::Array(vec![value.clone(); 3]),
                Value::Array(Vec::new()),
            ] {
                let bytes = written(&value);
                let mut reader = Reader::new(&bytes);
                assert_eq!(reader.value().as_ref(), Ok(&value));
                assert_eq!(reader.left(), 0, "{value:?}");
                for end in 0..bytes.len() {
                    let fault = Reader::new(&bytes[..end]).value().unwrap_err();
                    assert_eq!(fault, Fault::CutShort, "{value:?} up to {end}");
                }
            }
        }
        let mixed = Value::Array(vec![Value::U8(1), Value::I8(1)]);
        let nested = Value::Array(vec![Value::Array(Vec::new())]);
        for value in [mixed, nested] {
            assert!(value.write(&mut Vec::new()).is_err(), "{value:?}");
        }
    }

    #[test]
    fn what_is_no_value_is_told_from_what_is_not_here_yet() {
        let fault = |parts: &[&[u8]]| Reader::new(&parts.concat()).value().unwrap_err();
        let (number, count) = (u32::to_le_bytes, u64::to_le_bytes);
        for broken in [
            fault(&[&number(13)]),
            fault(&[&number(7), &[2]]),
            fault(&[&number(LIST), &number(LIST), &count(1)]),
            fault(&[&number(8), &count(u64::MAX)]),
            fault(&[&number(LIST), &number(0), &count(LONGEST + 1)]),
        ] {
            assert!(matches!(broken, Fault::Broken(_)), "{broken}");
        }
        let long = fault(&[&number(LIST), &number(10), &count(LONGEST), &[0; 64]]);
        assert_eq!(long, Fault::CutShort);
    }

    #[test]
    fn zeros_behind_a_text_are_none_of_it() {
        let bytes = [&8u32.to_le_bytes()[..], &5u64.to_le_bytes(), b"ab\0\0\0"].concat();
        let value = Reader::new(&bytes).value().unwrap();
        assert_eq!(value.as_str(), Some("ab"));
    }
}
