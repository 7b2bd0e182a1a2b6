use crate::error::Result;
use crate::sized::{c_string, Sized32};
use scanout_sys as sys;
use std::ffi::CString;
use std::os::raw::c_char;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::ptr::null;

/// Over which transport the frames of RTSP streams come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RtspTransport {
    /// The connection on which they are asked for, and UDP where the server refuses that.
    #[default]
    Auto,
    /// That connection.
    Tcp,
    /// Packets that may be lost, but of which none waits for another.
    Udp,
}

/// How a film is fetched from a server. Times are nanoseconds. 0, None and an empty text stand for the library's default, which is named. Times and
/// sizes below 0 make opening fail with [`ErrorKind::Argument`](crate::ErrorKind::Argument), except where they have a meaning.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// Over which transport the frames of RTSP streams come.
    pub rtsp: RtspTransport,
    /// How long it goes on being asked for while no byte of it comes: 30 s.
    pub timeout: i64,
    /// How long one connection may be silent before another is opened in its place: 10 s.
    pub stall_timeout: i64,
    /// Bytes that are fetched ahead and kept in memory: 150 MiB.
    pub cache_ahead: i64,
    /// Bytes that have been read and stay in memory: 50 MiB; below 0: none.
    pub cache_behind: i64,
    /// Of a film in several variants (HLS, DASH) the best with at most so many bits a second; `i64::MAX`: the highest, 1: the lowest. 0: by what is
    /// measured.
    pub bit_rate: i64,
    /// How far behind its sender a live film plays: by the protocol; below 0: as it comes.
    pub latency: i64,
    /// TLS without a look at certificates; anybody between may read and change the film.
    pub trusts_all_certificates: bool,
    /// A file with whose certificates count (PEM).
    pub certificate_authorities: Option<PathBuf>,
    /// How the library calls itself.
    pub user_agent: String,
    /// The page that the film is said to stand on.
    pub referrer: String,
    /// Further fields of a request, `Name: value`. They go to every server that the film leads to.
    pub header_fields: Vec<String>,
    /// A file with cookies as browsers and curl write it.
    pub cookies_file: Option<PathBuf>,
    /// A file with names and passwords as `~/.netrc`.
    pub netrc_file: Option<PathBuf>,
    /// Where a file without a name keeps what memory does not: all of the film is fetched, and nothing twice.
    pub cache_folder: Option<PathBuf>,
    /// Through which web servers are asked (`http://host:port`); empty: none. `None`: as the environment says.
    pub proxy: Option<String>,
}

/// The struct of C, and the texts that it points to.
pub(crate) struct NetworkWishes {
    pub(crate) info: sys::scanout_network,
    _texts: Vec<CString>,
}

impl NetworkWishes {
    pub(crate) fn new(network: &Network) -> Result<NetworkWishes> {
        let mut texts = Vec::new();
        let mut keep = |bytes: &[u8]| -> Result<*const c_char> {
            // What a CString points to stays where it is when the CString is moved.
            let text = c_string(bytes)?;
            let place = text.as_ptr();
            texts.push(text);
            Ok(place)
        };
        let proxy = network.proxy.as_ref().map_or(Ok(null()), |proxy| keep(proxy.as_bytes()))?;
        let mut place = |bytes: &[u8]| if bytes.is_empty() { Ok(null()) } else { keep(bytes) };
        let mut info = sys::scanout_network::sized();
        info.rtsp = match network.rtsp {
            RtspTransport::Auto => sys::SCANOUT_RTSP_AUTO,
            RtspTransport::Tcp => sys::SCANOUT_RTSP_TCP,
            RtspTransport::Udp => sys::SCANOUT_RTSP_UDP,
        };
        info.timeout = network.timeout;
        info.stall_timeout = network.stall_timeout;
        info.cache_ahead = network.cache_ahead;
        info.cache_behind = network.cache_behind;
        info.bit_rate = network.bit_rate;
        info.latency = network.latency;
        info.trusts_all_certificates = u32::from(network.trusts_all_certificates);
        let path = |path: &Option<PathBuf>| path.as_ref().map_or(Vec::new(), |path| path.as_os_str().as_bytes().to_vec());
        info.certificate_authorities = place(&path(&network.certificate_authorities))?;
        info.user_agent = place(network.user_agent.as_bytes())?;
        info.referrer = place(network.referrer.as_bytes())?;
        info.header_fields = place(network.header_fields.join("\n").as_bytes())?;
        info.cookies_file = place(&path(&network.cookies_file))?;
        info.netrc_file = place(&path(&network.netrc_file))?;
        info.cache_folder = place(&path(&network.cache_folder))?;
        info.proxy = proxy;
        Ok(NetworkWishes { info, _texts: texts })
    }
}
