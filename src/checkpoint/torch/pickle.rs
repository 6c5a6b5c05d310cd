//! A pickle that lists tensors, understood and not run.
//!
//! Python's machine has a stack of values, and a memo of those that come again. What stands here for it knows the
//! operations and the names that `torch.save` writes for a dictionary of tensors, and no others. Values are small and
//! lie in a few lists, never within each other: what a pickle claims to nest costs nothing.

use std::collections::{BTreeMap, HashMap};

use safetensors::Dtype;

type Result<T> = std::result::Result<T, String>;

/// Longest pickle: that of a large model has a hundred thousand bytes.
const LONGEST: usize = 4 << 20;
/// Most values at a time, far above what a list of tensors takes.
const MOST: usize = 1 << 18;
/// Most dimensions of a tensor.
const DIMENSIONS: usize = 8;

/// A tensor as a pickle puts it together of a storage.
#[derive(Debug, Clone, PartialEq)]
pub struct Rebuilt<'a> {
    pub storage: Storage<'a>,
    /// Its first number among the storage's.
    pub offset: usize,
    pub shape: Vec<usize>,
    /// How many numbers lie from one index to the next, by dimension.
    pub strides: Vec<usize>,
}

/// Numbers in a file of the archive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Storage<'a> {
    pub dtype: Dtype,
    /// The file's name below `data/`.
    pub key: &'a str,
    /// How many there are to be.
    pub numbers: usize,
}

/// What a pickle may name.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Name {
    OrderedDict,
    RebuildTensor,
    RebuildParameter,
    Storage(Dtype),
}

impl Name {
    fn of(module: &str, name: &str) -> Option<Self> {
        Some(match (module, name) {
            ("collections", "OrderedDict") => Self::OrderedDict,
            ("torch._utils", "_rebuild_tensor_v2") => Self::RebuildTensor,
            ("torch._utils", "_rebuild_parameter") => Self::RebuildParameter,
            ("torch", storage) => Self::Storage(match storage {
                "FloatStorage" => Dtype::F32,
                "HalfStorage" => Dtype::F16,
                "BFloat16Storage" => Dtype::BF16,
                "DoubleStorage" => Dtype::F64,
                "LongStorage" => Dtype::I64,
                "IntStorage" => Dtype::I32,
                "ShortStorage" => Dtype::I16,
                "CharStorage" => Dtype::I8,
                "ByteStorage" => Dtype::U8,
                "BoolStorage" => Dtype::BOOL,
                _ => return None,
            }),
            _ => return None,
        })
    }
}

/// A value; what has parts is a number of a list.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Object<'a> {
    Mark,
    /// `None`, `True` or `False`: nothing depends on which.
    Flag,
    Number(i64),
    Text(&'a str),
    /// So many of [`Machine::parts`] from there on.
    Tuple(usize, usize),
    Dictionary(usize),
    Name(Name),
    Storage(Storage<'a>),
    Tensor(usize),
}

#[derive(Default)]
struct Machine<'a> {
    input: &'a [u8],
    at: usize,
    stack: Vec<Object<'a>>,
    memo: HashMap<u32, Object<'a>>,
    parts: Vec<Object<'a>>,
    dictionaries: Vec<Vec<(Object<'a>, Object<'a>)>>,
    entries: usize,
    tensors: Vec<Rebuilt<'a>>,
}

/// The tensors of a pickled dictionary, by name.
///
/// # Errors
/// It does something else, or is broken: in words that name the operation or what it wants to call.
pub fn tensors(input: &[u8]) -> Result<BTreeMap<&str, Rebuilt<'_>>> {
    if input.len() > LONGEST {
        return Err(format!(
            "its pickle has {} bytes, of which no list of tensors needs more than {LONGEST}",
            input.len()
        ));
    }
    let machine = Machine {
        input,
        ..Machine::default()
    };
    machine.run()
}

impl<'a> Machine<'a> {
    fn run(mut self) -> Result<BTreeMap<&'a str, Rebuilt<'a>>> {
        let top = loop {
            let at = self.at;
            let operation = self.byte()?;
            match self.step(operation) {
                Ok(None) => {}
                Ok(Some(top)) => break top,
                Err(reason) => return Err(format!("{reason} (at byte {at} of its pickle)")),
            }
            if self.stack.len() + self.parts.len() + self.entries + self.tensors.len() > MOST {
                return Err("its pickle has more values than a list of tensors".into());
            }
        };
        let Object::Dictionary(top) = top else {
            return Err("its pickle is no dictionary of tensors".into());
        };
        let mut named = BTreeMap::new();
        for &(key, value) in &self.dictionaries[top] {
            // What else is beside tensors, such as a number of steps, is nothing that a forward pass reads.
            if let (Object::Text(name), Object::Tensor(tensor)) = (key, value) {
                named.insert(name, self.tensors[tensor].clone());
            }
        }
        match named.is_empty() {
            true => Err("its pickle names no tensor: it is no state dictionary of a model".into()),
            false => Ok(named),
        }
    }

    /// One operation; the value that the last one leaves.
    fn step(&mut self, operation: u8) -> Result<Option<Object<'a>>> {
        let value = match operation {
            // PROTO
            0x80 => return self.byte().map(|_| None),
            // STOP
            b'.' => return self.pop().map(Some),
            // MARK
            b'(' => Object::Mark,
            // NONE, NEWTRUE, NEWFALSE
            b'N' | 0x88 | 0x89 => Object::Flag,
            // BININT1, BININT2, BININT, LONG1
            b'K' => Object::Number(self.integer(1)?),
            b'M' => Object::Number(self.integer(2)?),
            b'J' => Object::Number(i64::from(self.integer(4)? as i32)),
            0x8a => {
                let size = self.byte()?.into();
                Object::Number(self.integer(size)?)
            }
            // BINUNICODE
            b'X' => {
                let size = self.length()?;
                let text = std::str::from_utf8(self.take(size)?);
                Object::Text(text.map_err(|_| "a text in its pickle is no UTF-8")?)
            }
            // GLOBAL
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                Object::Name(Name::of(module, name).ok_or_else(|| {
                    format!("its pickle wants `{module}.{name}`, which no list of tensors needs; nothing of it was run. Take the model from a source that you trust, in safetensors")
                })?)
            }
            // EMPTY_TUPLE, TUPLE1, TUPLE2, TUPLE3, TUPLE
            b')' => self.tuple(self.stack.len())?,
            count @ 0x85..=0x87 => {
                let from = self.stack.len().checked_sub(usize::from(count) - 0x84);
                self.tuple(from.ok_or_else(missing)?)?
            }
            b't' => {
                let from = self.mark()?;
                let tuple = self.tuple(from)?;
                self.pop()?;
                tuple
            }
            // EMPTY_DICT
            b'}' => self.dictionary(),
            // SETITEM, SETITEMS
            b's' => return self.set(self.stack.len().saturating_sub(2), 0),
            b'u' => {
                let from = self.mark()?;
                return self.set(from, 1);
            }
            // BINPERSID
            b'Q' => {
                let id = self.pop()?;
                Object::Storage(self.storage(id)?)
            }
            // REDUCE
            b'R' => {
                let (arguments, called) = (self.pop()?, self.pop()?);
                self.call(called, arguments)?
            }
            // BUILD: the attributes of a dictionary, in which torch keeps versions of modules.
            b'b' => {
                self.pop()?;
                return match self.stack.last() {
                    Some(Object::Dictionary(_)) => Ok(None),
                    _ => Err("its pickle changes something that is no dictionary".into()),
                };
            }
            // BINPUT, LONG_BINPUT
            b'q' | b'r' => {
                let key = self.key(operation == b'r')?;
                let top = *self.stack.last().ok_or_else(missing)?;
                self.memo.insert(key, top);
                return Ok(None);
            }
            // BINGET, LONG_BINGET
            b'h' | b'j' => {
                let key = self.key(operation == b'j')?;
                *self.memo.get(&key).ok_or_else(missing)?
            }
            other => {
                return Err(format!(
                    "its pickle has the operation {other:#04x}, which no list of tensors needs; nothing of it was run"
                ));
            }
        };
        self.stack.push(value);
        Ok(None)
    }

    fn take(&mut self, size: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(size);
        let taken = end.and_then(|end| self.input.get(self.at..end));
        let taken = taken.ok_or("its pickle is cut short")?;
        self.at += size;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    /// A little-endian number of up to eight bytes; with all eight it has a sign.
    fn integer(&mut self, size: usize) -> Result<i64> {
        let bytes = self.take(size)?;
        let mut number = [0; 8];
        let whole = number.get_mut(..size);
        whole
            .ok_or("its pickle has a number that is too large")?
            .copy_from_slice(bytes);
        Ok(i64::from_le_bytes(number))
    }

    fn length(&mut self) -> Result<usize> {
        Ok(self.integer(4)? as usize)
    }

    fn key(&mut self, long: bool) -> Result<u32> {
        Ok(self.integer(if long { 4 } else { 1 })? as u32)
    }

    fn line(&mut self) -> Result<&'a str> {
        let rest = &self.input[self.at..];
        let length = memchr::memchr(b'\n', rest).ok_or("its pickle is cut short")?;
        let line = self.take(length)?;
        self.at += 1;
        std::str::from_utf8(line).map_err(|_| "a name in its pickle is no UTF-8".into())
    }

    fn pop(&mut self) -> Result<Object<'a>> {
        self.stack.pop().ok_or_else(missing)
    }

    /// Where the values behind the last mark begin.
    fn mark(&self) -> Result<usize> {
        let mark = self.stack.iter().rposition(|value| *value == Object::Mark);
        mark.map(|mark| mark + 1).ok_or_else(missing)
    }

    /// The values from there on as one.
    fn tuple(&mut self, from: usize) -> Result<Object<'a>> {
        let start = self.parts.len();
        self.parts.extend(self.stack.drain(from..));
        Ok(Object::Tuple(start, self.parts.len() - start))
    }

    fn dictionary(&mut self) -> Object<'a> {
        self.dictionaries.push(Vec::new());
        self.entries += 1;
        Object::Dictionary(self.dictionaries.len() - 1)
    }

    /// Puts the keys and values from there on, behind so many marks, into the dictionary before them.
    fn set(&mut self, from: usize, marks: usize) -> Result<Option<Object<'a>>> {
        let place = from.checked_sub(marks + 1).ok_or_else(missing)?;
        let Some(&Object::Dictionary(dictionary)) = self.stack.get(place) else {
            return Err("its pickle puts something into what is no dictionary".into());
        };
        let (pairs, odd) = self.stack[from..].as_chunks::<2>();
        if !odd.is_empty() {
            return Err("its pickle has a key without a value".into());
        }
        self.entries += pairs.len();
        self.dictionaries[dictionary].extend(pairs.iter().map(|&[key, value]| (key, value)));
        self.stack.truncate(place + 1);
        Ok(None)
    }

    fn parts(&self, value: Object<'a>) -> Result<&[Object<'a>]> {
        match value {
            Object::Tuple(start, length) => Ok(&self.parts[start..start + length]),
            _ => Err("its pickle has something else where a tuple is needed".into()),
        }
    }

    fn sizes(&self, value: Object<'a>) -> Result<Vec<usize>> {
        let size = |value: &Object<'a>| match *value {
            Object::Number(n) => usize::try_from(n).ok(),
            _ => None,
        };
        let parts = self.parts(value)?;
        let sizes: Option<_> = parts.iter().map(size).collect();
        sizes.filter(|_| parts.len() <= DIMENSIONS).ok_or_else(|| {
            format!(
                "its pickle has a tensor whose sizes are not up to {DIMENSIONS} numbers from 0 on"
            )
        })
    }

    /// `('storage', torch.FloatStorage, '0', 'cpu', 12)`
    fn storage(&self, id: Object<'a>) -> Result<Storage<'a>> {
        let &[
            Object::Text("storage"),
            Object::Name(Name::Storage(dtype)),
            Object::Text(key),
            Object::Text(_),
            Object::Number(numbers),
        ] = self.parts(id)?
        else {
            return Err("its pickle refers to something that is no storage of torch".into());
        };
        let numbers = usize::try_from(numbers);
        Ok(Storage {
            dtype,
            key,
            numbers: numbers.map_err(|_| "its pickle has a storage of fewer than 0 numbers")?,
        })
    }

    fn call(&mut self, called: Object<'a>, arguments: Object<'a>) -> Result<Object<'a>> {
        let given = self.parts(arguments)?;
        match (called, given) {
            (Object::Name(Name::OrderedDict), []) => Ok(self.dictionary()),
            // storage, offset, size, stride, requires_grad, backward_hooks, and what newer ones add
            (
                Object::Name(Name::RebuildTensor),
                &[
                    Object::Storage(storage),
                    Object::Number(offset),
                    size,
                    stride,
                    ..,
                ],
            ) => {
                let tensor = Rebuilt {
                    storage,
                    offset: usize::try_from(offset)
                        .map_err(|_| "its pickle has a tensor that begins before its storage")?,
                    shape: self.sizes(size)?,
                    strides: self.sizes(stride)?,
                };
                // Sizes are values too.
                self.entries += tensor.shape.len() + tensor.strides.len();
                self.tensors.push(tensor);
                Ok(Object::Tensor(self.tensors.len() - 1))
            }
            (Object::Name(Name::RebuildParameter), &[tensor @ Object::Tensor(_), ..]) => Ok(tensor),
            _ => Err("its pickle calls something in a way that no list of tensors needs".into()),
        }
    }
}

fn missing() -> String {
    "its pickle uses a value that is not there".into()
}
