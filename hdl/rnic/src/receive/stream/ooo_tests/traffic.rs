//! What arrives: segments of random streams, as the messages of TCP receive, their pages filled.
use super::*;

impl Bench {
    /// Pages for a frame, with positions from `left` on after `offset` octets of headers.
    fn store(&mut self, left: u64, right: u64, offset: u64) -> Vec<u64> {
        let count = (offset + right - left).div_ceil(PAGE_OCTETS as u64);
        let pages: Vec<u64> = self.free_pages.drain(..count as usize).collect();
        self.links.add(&pages);
        for position in left..right {
            let at = offset + position - left;
            let page = pages[(at / PAGE_OCTETS as u64) as usize];
            let octet = page * PAGE_OCTETS as u64 + at % PAGE_OCTETS as u64;
            self.memory[octet as usize] = position;
        }
        pages
    }

    /// A segment with positions `left..right` arrives; what is new of it becomes messages.
    pub(super) fn arrive(&mut self, index: usize, left: u64, right: u64, random: &mut Random) {
        let stream = &mut self.streams[index];
        // What is new, piece by piece: between the ranges, and not before `next`.
        let mut pieces = Vec::new();
        let mut cursor = left.max(stream.next);
        for range in &stream.ranges {
            if range.right >= cursor && range.left < right {
                if range.left > cursor {
                    pieces.push((cursor, range.left));
                }
                cursor = cursor.max(range.right);
            }
        }
        if cursor < right {
            pieces.push((cursor, right));
        }
        let (Some(&(first, _)), number) = (pieces.first(), stream.number) else {
            return;
        };
        if self.credits < pieces.len() as i64 || self.span_credits < pieces.len() as i64 {
            return;
        }
        let ooo = first > stream.next;
        let offset = 56 + random.below(80);
        let pages = self.store(left, right, offset);
        let count = pieces.len();
        for (at, &(from, to)) in pieces.iter().enumerate() {
            let stream = &mut self.streams[index];
            let left_range = stream.ranges.iter().position(|range| range.right == from);
            let right_range = stream.ranges.iter().position(|range| range.left == to);
            let range_number = |at: Option<usize>| at.map_or(0, |at| stream.ranges[at].number);
            let mut message = Accepted {
                connection: number.into(),
                sequence: (from & 0xffff_ffff).into(),
                head_page: pages[0].into(),
                tail_page: pages[pages.len() - 1].into(),
                offset: (offset + from - left).into(),
                octets: (to - from).into(),
                ooo,
                has_left: ooo && left_range.is_some(),
                left: range_number(left_range).into(),
                has_right: right_range.is_some(),
                right: range_number(right_range).into(),
                shared: count > 1,
                first: at == 0,
                last: at == count - 1,
                purges: false,
                ..Accepted::default()
            };
            let end = right_range.map_or(to, |at| stream.ranges[at].right);
            match (ooo, left_range, right_range) {
                (false, _, Some(right)) => {
                    self.free_ranges.push(stream.ranges.remove(right).number)
                }
                (false, _, None) => {}
                (true, Some(left), Some(right)) => {
                    stream.ranges[left].right = end;
                    self.free_ranges.push(stream.ranges.remove(right).number);
                }
                (true, Some(left), None) => stream.ranges[left].right = end,
                (true, None, Some(right)) => stream.ranges[right].left = from,
                (true, None, None) => {
                    let number = self.free_ranges.remove(0);
                    message.left = number.into();
                    let place = stream.ranges.partition_point(|range| range.left < from);
                    let (left, right) = (from, to);
                    stream.ranges.insert(
                        place,
                        ReceivedRange {
                            left,
                            right,
                            number,
                        },
                    );
                }
            }
            if !ooo {
                stream.next = end;
            }
            self.span_credits -= i64::from(ooo && !message.has_left);
            let kind = 4 * usize::from(ooo) + 2 * usize::from(message.has_left);
            self.seen[kind + usize::from(message.has_right)] += 1;
            self.seen[2] += usize::from(count > 1 && at == 0);
            self.seen[3] += usize::from(at < count - 1);
            self.credits -= i64::from(count > 1 && at < count - 1);
            self.messages.push(message);
        }
        self.frames.push(Frame {
            stream: index,
            pages,
            kept: pieces,
        });
    }

    /// A segment of a random stream: next in order, beyond a gap, or over what was received.
    pub(super) fn next_segment(&mut self, random: &mut Random) {
        let index = random.below(self.streams.len() as u64) as usize;
        let stream = &self.streams[index];
        let stopping = self.stop.waiting().contains(&index);
        let offered = self.request.as_ref().is_some_and(|sent| sent.0 == index);
        if !stream.running || offered || stopping || self.free_pages.len() < 120 {
            return;
        }
        let mut octets = match random.below(4) {
            0 => 1 + random.below(40),
            1 => 1 + random.below(3000),
            _ => 1 + random.below(700),
        };
        // Most FPDUs begin where a segment does, at a whole word.
        let word = if random.chance(3, 4) { !3 } else { !0 };
        octets = (octets & word).max(4);
        let room = stream.ranges.len() < 16;
        let left = match random.below(4) {
            0 | 1 if room => (stream.next + 4 + random.below(2500)) & word,
            2 => (stream.next + random.below(1500)).saturating_sub(700),
            _ => stream.next,
        };
        let touches = |range: &ReceivedRange| range.right >= left && range.left <= left + octets;
        if left > stream.next && !room && !stream.ranges.iter().any(touches) {
            return;
        }
        self.arrive(index, left, left + octets, random);
    }
}
