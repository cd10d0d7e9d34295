//! The tests, first failing one first.
use super::*;

impl Model {
    /// The region of `stag`, if it is known, valid and has this key.
    pub(super) fn region(&self, stag: u32) -> Option<(u64, Region)> {
        let known = self.stags.values().find(|(index, _)| *index == stag >> 8)?;
        let region = self.regions.get(&known.1).copied().unwrap_or_default();
        (region.valid && region.key == stag as u8).then_some((known.1, region))
    }

    pub(super) fn associated(&self, connection: u64, region: &Region) -> bool {
        let bound = region.rights & tables::RIGHT_STREAM_BOUND != 0;
        region.pd == self.context(connection).pd && (!bound || region.connection == connection)
    }

    pub(super) fn context(&self, connection: u64) -> Context {
        self.contexts.get(&connection).copied().unwrap_or_default()
    }

    pub(super) fn queue(&self, connection: u64, qn: u64) -> Queue {
        let queue = self.queues.get(&(connection << 2 | qn));
        queue.copied().unwrap_or_default()
    }

    /// The header, or why there is none (0: a zero-length FPDU that is allowed).
    pub(super) fn header(&self, record: &Record) -> Result<Header, u64> {
        let octets = &record.header;
        let tagged = octets[2] & 0x80 != 0;
        let header_octets = if tagged { 14 } else { 18 };
        let first = self.context(record.connection).first;
        if !record.crc_good {
            return Err(MpaCrc as u64);
        }
        if !record.marker_good {
            return Err(MpaMarker as u64);
        }
        if record.ulpdu_length == 0 {
            return Err(if first {
                0
            } else {
                MpaLocalCatastrophic as u64
            });
        }
        if record.ulpdu_length < header_octets {
            return Err(DdpShortHeader as u64);
        }
        Ok(Header {
            tagged,
            last: octets[2] & 0x40 != 0,
            opcode: u64::from(octets[3] & 15),
            stag: number(&octets[4..8]) as u32,
            to: number(&octets[8..16]),
            qn: number(&octets[8..12]),
            msn: number(&octets[12..16]) as u32,
            mo: number(&octets[16..20]),
            payload: record.ulpdu_length - header_octets,
        })
    }

    /// The first failing test of a segment with a header.
    pub(super) fn refusal(&self, record: &Record, header: &Header) -> Option<StreamError> {
        let version = self.context(record.connection).version;
        if record.header[2] & 3 != version {
            return Some(if header.tagged {
                DdpTaggedVersion
            } else {
                DdpUntaggedVersion
            });
        }
        if record.header[3] >> 6 != version {
            return Some(RdmapVersion);
        }
        if header.tagged {
            self.tagged_refusal(record, header)
        } else {
            self.untagged_refusal(record, header)
        }
    }

    pub(super) fn tagged_refusal(&self, record: &Record, header: &Header) -> Option<StreamError> {
        let right = match header.opcode {
            0 => tables::RIGHT_REMOTE_WRITE,
            2 => tables::RIGHT_READ_SINK,
            _ => return Some(RdmapOpcode),
        };
        let unread = (header.opcode == 2).then(|| self.read_refusal(record, header));
        let unread = unread.flatten();
        if header.payload == 0 {
            return unread;
        }
        let Some((_, region)) = self.region(header.stag) else {
            return Some(DdpStag);
        };
        let (base, to) = (u128::from(region.base), u128::from(header.to));
        let (end, to_end) = (
            base + u128::from(region.octets),
            to + u128::from(header.payload),
        );
        if !self.associated(record.connection, &region) {
            Some(DdpAssociation)
        } else if region.rights & right == 0 {
            Some(RdmapAccess)
        } else if to_end >= 1 << 64 {
            Some(DdpWrap)
        } else if to < base || to_end > end {
            Some(DdpBounds)
        } else {
            unread
        }
    }

    /// A Read Response continues the oldest outstanding read.
    fn read_refusal(&self, record: &Record, header: &Header) -> Option<StreamError> {
        let continues = self
            .oldest_read(record.connection)
            .is_some_and(|(_, read)| {
                let region = self.region(header.stag).map(|(_, region)| region);
                let is_next = header.to & TO_BITS == read.to
                    && header.stag == read.stag
                    && region.is_some_and(|region| region.octets <= TO_BITS);
                let left = u64::from(read.octets).checked_sub(header.payload);
                (header.payload == 0 || is_next)
                    && left.is_some_and(|left| header.last == (left == 0))
            });
        (!continues).then_some(RdmapReadResponse)
    }

    pub(super) fn untagged_refusal(&self, record: &Record, header: &Header) -> Option<StreamError> {
        if header.qn > 2 || !self.queue(record.connection, header.qn).open {
            return Some(DdpQn);
        }
        let fits = match header.qn {
            0 => (3..=6).contains(&header.opcode),
            1 => header.opcode == 1,
            _ => header.opcode == 7,
        };
        if !fits {
            return Some(RdmapOpcode);
        }
        let queue = self.queue(record.connection, header.qn);
        let distance = header.msn.wrapping_sub(queue.expected);
        let posted = queue.tail.wrapping_sub(queue.expected as u16);
        let octets = u64::from(self.buffer(&queue, header.msn).1 .1);
        if (distance as i32) < 0 {
            Some(DdpMsn)
        } else if distance >= u32::from(posted) {
            Some(DdpNoBuffer)
        } else if distance != 0 && record.kind != FpduKind::OutOfOrder {
            Some(DdpMsn)
        } else if header.mo > octets || (header.payload > 0 && header.mo == octets) {
            Some(DdpMo)
        } else if header.mo + header.payload > octets {
            Some(DdpTooLong)
        } else if header.last && matches!(header.opcode, 4 | 6) {
            let region = self.region(header.stag).map(|(_, region)| region);
            let allowed = region.is_some_and(|region| {
                self.associated(record.connection, &region)
                    && region.rights & tables::RIGHT_REMOTE_INVALIDATE != 0
            });
            (!allowed).then_some(RdmapInvalidate)
        } else {
            None
        }
    }

    pub(super) fn buffer(&self, queue: &Queue, msn: u32) -> (u64, (u64, u32)) {
        let (entry, words) = self.entry(queue, msn);
        (entry, (pair(words[0], words[1]), words[2]))
    }

    pub(super) fn entry(&self, queue: &Queue, msn: u32) -> (u64, [u32; 4]) {
        let entry = (queue.first + msn % (1 << queue.entries_log2)) & 0x7ff;
        let words = self.pool.get(&u64::from(entry));
        (u64::from(entry), words.copied().unwrap_or_default())
    }
}
