//! Files of releases, from servers that fail in every way.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::time::Duration;

use carp::forge::{DownloadLimits, Downloads, ProxySettings};

use crate::support::releases::{Release, Releases};

fn limits() -> DownloadLimits {
    let (whole, connect, silence) =
        (Duration::from_secs(60), Duration::from_secs(5), Duration::from_secs(20));
    DownloadLimits { whole, connect, silence, pause: Duration::from_millis(1), bytes: 1 << 20 }
}

fn begun(limits: DownloadLimits) -> Downloads {
    Downloads::begin(ProxySettings::default(), limits).unwrap()
}

#[test]
fn a_file_is_had_as_a_whole_or_not_at_all() {
    let server = Releases::start(|path| match path {
        "/torn" => Release::Torn("kind: CustomResourceDefinition\n".to_owned()),
        "/unmeasured" => Release::Unmeasured("kind: CustomResourceDefinition\n".to_owned()),
        "/huge" => Release::Huge,
        "/down" => Release::Says("503 Service Unavailable", ""),
        "/limited" => Release::Says("429 Too Many Requests\r\nRetry-After: 3600", ""),
        "/busy" => Release::Says("503 Service Unavailable\r\nRetry-After: 0", ""),
        "/empty" => Release::Says("204 No Content", ""),
        "/part" => Release::Says("206 Partial Content", "kind: CustomResourceDefinition\n"),
        "/unchanged" => Release::Says("304 Not Modified\r\nLocation: /file", ""),
        "/nowhere" => Release::Says("302 Found", ""),
        "/a/beside" => Release::Elsewhere("b/../../file".to_owned()),
        "/there" => Release::Elsewhere("/file".to_owned()),
        "/outside" => Release::Elsewhere("http://x.example.com/file?signature=s3cret".to_owned()),
        "/circle" => Release::Elsewhere("/circle".to_owned()),
        _ => Release::File("all of it\n".to_owned()),
    });
    let read = |path: &str| {
        let read = begun(limits()).read(&format!("{}{path}", server.url()));
        read.map(|bytes| String::from_utf8(bytes).unwrap()).map_err(|error| error.to_string())
    };
    assert_eq!(read("/file").unwrap(), "all of it\n");
    assert_eq!(read("/there").unwrap(), "all of it\n");
    server.asked();
    assert_eq!(read("/a/beside").unwrap(), "all of it\n");
    assert_eq!(server.asked(), ["/a/beside", "/file"]);
    server.asked();
    for (path, said, times) in [
        ("/torn", "did not send all of it: ", 3),
        ("/unmeasured", "it does not say how long the file is", 3),
        ("/down", "answered 503: something failed there; it was asked directly", 3),
        ("/busy", "answered 503: something failed there", 3),
        ("/limited", "answered 429, and asks to be left alone for 3600 s; run it again then", 1),
        ("/empty", "answered 204: there is nothing in this file", 1),
        ("/part", "answered 206: it sent a part of the file", 1),
        ("/unchanged", "answered 304: it says that nothing changed", 1),
        ("/nowhere", "answered 302: it is elsewhere, and the answer does not say where", 1),
        ("/huge", "it has more than 1 MiB", 1),
        ("/outside", "`http://x.example.com/file` is not https", 1),
        ("/circle", "it leads from one address to another", 6),
    ] {
        let told = read(path).unwrap_err();
        assert!(told.contains(said) && !told.contains("s3cret"), "{path}: {told}");
        assert_eq!(server.asked().len(), times, "{path}");
    }
    let address = server.url();
    drop(server);
    let told = begun(limits()).read(&address).unwrap_err().to_string();
    assert!(told.contains("cannot be reached") && told.contains("asked directly"), "{told}");
}

#[test]
fn there_is_one_time_for_all_files_and_no_second_chance_for_a_host() {
    let server = Releases::start(|path| match path {
        "/away" => Release::HangsUp,
        _ => Release::File("all of it\n".to_owned()),
    });
    let address = |path: &str| format!("{}{path}", server.url());
    let mut downloads = begun(limits());
    assert_eq!(downloads.read(&address("/a")).unwrap(), b"all of it\n");
    let told = downloads.read(&address("/away")).unwrap_err().to_string();
    assert!(told.contains("cannot be reached: "), "{told}");
    assert_eq!(server.asked().len(), 4);
    let told = downloads.read(&address("/a")).unwrap_err().to_string();
    assert!(told.contains("as is told above"), "{told}");
    let mut late = begun(DownloadLimits { whole: Duration::ZERO, ..limits() });
    let told = late.read(&address("/a")).unwrap_err().to_string();
    assert!(told.contains("was given no more time: all files together may take 0 s"), "{told}");
    assert!(server.asked().is_empty(), "nobody was asked");
}

#[test]
fn a_file_is_asked_for_through_the_proxy_that_the_environment_names() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = format!("http://me:s3cret@{}", listener.local_addr().unwrap());
    let asked = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        line
    });
    let proxies = ProxySettings::of(|name| (name == "https_proxy").then_some(proxy.as_str()));
    let mut downloads = Downloads::begin(proxies, limits()).unwrap();
    let told = downloads.read("https://x.example.com/a").unwrap_err().to_string();
    assert!(told.contains("asked through the proxy 127.0.0.1:"), "{told}");
    assert!(!told.contains("s3cret"), "{told}");
    assert!(asked.join().unwrap().starts_with("CONNECT x.example.com:443 "));
}
