//! Serves a function of a saved file over HTTP: `server FILE FUNCTION ADDRESS`.
//!
//! `curl --data-binary '{"price": 2.0}' http://127.0.0.1:8080/` sends lines of JSON, or an array of records, and gets a line for
//! each. The file is loaded once; every thread answers connections with the same function. A body that does not fit is answered by
//! what is wrong with it.

#[cfg(test)]
mod tests;

use extenso::formats::{Runner, encode_ndjson};
use extenso::prelude::*;
use std::io::{self, BufRead, BufReader, Error, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// The most bytes of the head of a request, and of its body.
const HEAD: u64 = 1 << 14;
const BODY: usize = 1 << 24;
/// How long a connection may be silent.
const PATIENCE: Duration = Duration::from_secs(10);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, name, address] = args.as_slice() else { return Err("usage: server FILE FUNCTION ADDRESS".into()) };
    let module = save::load(file)?;
    let function = module.function(name)?;
    let listener = TcpListener::bind(address)?;
    println!("{function} at http://{}", listener.local_addr()?);
    serve(&listener, function, std::thread::available_parallelism()?.get())
}

/// Answers connections on so many threads, until one fails.
fn serve(listener: &TcpListener, function: &Arc<Concrete>, threads: usize) -> Result<(), Box<dyn std::error::Error>> {
    // The function is the same for all; a runner has room of its own for rows.
    let runners = (0..threads).map(|_| Runner::new(function)).collect::<Result<Vec<Runner>, _>>()?;
    std::thread::scope(|scope| {
        let work = |mut runner| scope.spawn(move || answer_all(listener, &mut runner));
        let workers: Vec<_> = runners.into_iter().map(work).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a thread panicked")?.map_err(Into::into))
    })
}

fn answer_all(listener: &TcpListener, runner: &mut Runner) -> io::Result<()> {
    loop {
        let (stream, peer) = listener.accept()?;
        // Who hangs up ends a connection and not the server.
        if let Err(error) = converse(&stream, runner) {
            eprintln!("{peer}: {error}");
        }
    }
}

/// Answers the requests of one connection, one after the other.
fn converse(mut stream: &TcpStream, runner: &mut Runner) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(stream);
    while let Some(request) = Request::read(&mut reader)? {
        let (status, text, last) = match request.body(&mut reader)? {
            Err(status) => (status, Vec::new(), true),
            Ok(body) => match runner.run(&body, OnError::Raise).and_then(|rows| encode_ndjson(&rows.value)) {
                Ok(lines) => ("200 OK", lines, request.last),
                Err(error) => ("400 Bad Request", format!("{error}\n").into_bytes(), request.last),
            },
        };
        let close = if last { "Connection: close\r\n" } else { "" };
        let mut answer = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{close}\r\n", text.len()).into_bytes();
        answer.extend(text);
        stream.write_all(&answer)?;
        if last {
            return Ok(());
        }
    }
    Ok(())
}

/// What the head of a request says.
#[derive(Default)]
struct Request {
    is_post: bool,
    length: Option<usize>,
    /// Whether the connection ends with it.
    last: bool,
}

impl Request {
    /// The next request; none where the other side is done.
    fn read(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
        let (mut head, mut line) = (reader.take(HEAD), String::new());
        if head.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut request = Request { is_post: line.starts_with("POST "), ..Request::default() };
        while !line.trim_end().is_empty() {
            line.clear();
            if head.read_line(&mut line)? == 0 {
                return Err(Error::new(ErrorKind::UnexpectedEof, "the head of a request has no end"));
            }
            let (name, value) = line.split_once(':').unwrap_or_default();
            if name.eq_ignore_ascii_case("content-length") {
                request.length = value.trim().parse().ok();
            } else if name.eq_ignore_ascii_case("connection") {
                request.last = value.trim().eq_ignore_ascii_case("close");
            }
        }
        Ok(Some(request))
    }

    /// The body, or the status of a request that is refused unread.
    fn body(&self, reader: &mut impl Read) -> io::Result<Result<Vec<u8>, &'static str>> {
        Ok(match self.length {
            _ if !self.is_post => Err("405 Method Not Allowed"),
            None => Err("411 Length Required"),
            Some(BODY..) => Err("413 Content Too Large"),
            Some(length) => {
                let mut body = vec![0; length];
                reader.read_exact(&mut body)?;
                Ok(body)
            }
        })
    }
}
