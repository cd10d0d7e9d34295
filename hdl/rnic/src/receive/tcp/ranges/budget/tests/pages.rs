//! Accounts of out-of-order pages against plain integers.
use super::super::*;
use rnic_hdl_tools::testkit::lockstep;

#[test]
fn a_frame_fits_within_both_limits() {
    let (mut cycle, mut device, mut answers) = (0, 0u64, [0usize; 2]);
    let mut held: Vec<u64> = Vec::new();
    let (mut octets, mut connection, mut share, mut limit) = (0, 0, 0, 0);
    let uut = OutOfOrderBudget::default();
    lockstep!("ooo_budget", uut, 16_000, |uut, random| {
        uut.reset.next = cycle == 8_000;
        (uut.charge.next, uut.refund.next) = (false, false);
        if cycle == 8_000 {
            device = 0;
            held.clear();
        }
        // Accounts change in cycle 7 of eight, the question comes in 1, its answer in 6.
        let pages = (octets + 2u64).div_ceil(256);
        match cycle % 8 {
            1 => {
                (octets, connection) = (14 + random.below(9203), random.below(449));
                (share, limit) = (random.below(449), random.below(449));
                if random.chance(1, 4) {
                    // Just enough, or one page too few.
                    let pages = (octets + 2).div_ceil(256);
                    share = connection + pages;
                    limit = (device + pages).saturating_sub(random.below(2));
                }
                uut.frame_octets.next = octets.into();
                uut.connection_pages.next = connection.into();
                uut.ooo_share.next = share.into();
                uut.ooo_pages.next = limit.into();
            }
            6 => {
                assert_eq!(uut.frame_pages.val(), pages);
                let fits = connection + pages <= share && device + pages <= limit;
                assert_eq!(uut.fits.val(), fits);
                answers[usize::from(fits)] += 1;
            }
            7 if device + pages <= 448 && random.chance(1, 2) => {
                uut.charge.next = true;
                device += pages;
                held.push(pages);
            }
            7 if random.chance(1, 2) => {
                if let Some(pages) = held.pop() {
                    uut.refund.next = true;
                    uut.refund_pages.next = pages.into();
                    device -= pages;
                }
            }
            _ => {}
        }
        cycle += 1;
    });
    assert!(answers.iter().all(|seen| *seen > 100), "{answers:?}");
}
