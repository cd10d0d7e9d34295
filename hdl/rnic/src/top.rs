//! stub
/// stub
pub fn verilog(_width: usize) -> Result<String, String> {
    Err("not yet".into())
}
