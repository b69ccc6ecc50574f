//! Makes the protocol's Rust types from `proto`. No `protoc` is needed: protox is one in Rust.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=proto");
    let files = protox::compile(["botarena/v1/play.proto"], ["proto"])?;
    tonic_prost_build::configure()
        .server_mod_attribute("botarena.v1", "#[doc(hidden)]") // for tests, which play the arena
        .include_file("proto.rs")
        .compile_fds(files)?;
    Ok(())
}
