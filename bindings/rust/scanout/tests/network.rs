//! What a server is told.

mod common;

use common::{film, frames};
use scanout::{Network, Options, Player};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;
use std::thread;

#[test]
fn a_server_is_told_what_the_program_wishes() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/plain.mp4", listener.local_addr().unwrap());
    let (told, requests) = mpsc::channel();
    let bytes = std::fs::read(film("plain.mp4")).unwrap();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let (mut connection, mut request) = (connection.unwrap(), Vec::new());
            let mut part = [0; 1000];
            while !request.ends_with(b"\r\n\r\n") {
                match connection.read(&mut part).unwrap_or(0) {
                    0 => break,
                    count => request.extend_from_slice(&part[..count]),
                }
            }
            let _ = told.send(String::from_utf8_lossy(&request).into_owned());
            let _ = write!(connection, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", bytes.len());
            let _ = connection.write_all(&bytes);
        }
    });
    let network = Network {
        user_agent: "Tester/1.0".into(),
        header_fields: vec!["X-One: 1".into(), "X-Two: two words".into()],
        timeout: 60_000_000_000,
        ..Network::default()
    };
    let player = Player::open(address, &Options { network, ..Options::default() }).unwrap();
    assert_eq!(frames(&player).len(), 30);
    let request = requests.recv().unwrap();
    for line in ["User-Agent: Tester/1.0", "X-One: 1", "X-Two: two words"] {
        assert!(request.lines().any(|one| one == line), "{request}");
    }
    let wrong = Options { network: Network { timeout: -1, ..Network::default() }, ..Options::default() };
    assert!(Player::open(film("plain.mp4"), &wrong).is_err());
}
