//! The server answers as HTTP/1.1 wants, from several threads at once.

use super::*;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// The function as a file gives it.
fn loaded() -> Result<Arc<Concrete>, extenso::Error> {
    let spec = struct_spec([("price", FieldSpec::Scalar(DType::F64, vec![]))])?;
    let double = Function::new("double", |args| {
        let prices = StructTensor::from_value(args.leaves()[0].1)?.field("price")?.clone();
        Ok(Nest::Leaf(ops::multiply(prices, 2.0)?))
    });
    let file = save::to_bytes(&[double.concrete(&Nest::Leaf(spec))?])?;
    save::from_bytes(file)?.function("double").cloned()
}

#[test]
fn every_thread_answers_with_the_same_function() -> Outcome {
    let (listener, function) = (TcpListener::bind("127.0.0.1:0")?, loaded()?);
    let address = listener.local_addr()?;
    std::thread::spawn(move || serve(&listener, &function, 4).map_err(|error| error.to_string()));
    let ask = |request: String| -> io::Result<String> {
        let (mut stream, mut answer) = (TcpStream::connect(address)?, String::new());
        stream.write_all(request.as_bytes())?;
        stream.read_to_string(&mut answer).map(|_| answer)
    };
    let post = |body: &str| format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n", body.len());
    let last = |body: &str| ask(format!("{}Connection: close\r\n\r\n{body}", post(body)));
    std::thread::scope(|scope| {
        let asked: Vec<_> = (0..8)
            .map(|i| scope.spawn(move || (i, last(&format!("{{\"price\": {i}}}\n{{\"price\": 0.25}}\n")))))
            .collect();
        for asked in asked {
            let (i, answer) = asked.join().map_err(|_| "a thread panicked")?;
            let answer = answer?;
            assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with(&format!("\n{}.0\n0.5\n", 2 * i)));
        }
        Outcome::Ok(())
    })?;
    // Two requests of one connection.
    let (one, two) = (r#"{"price": 1}"#, r#"{"price": "much"}"#);
    let both = ask(format!("{}\r\n{one}{}Connection: close\r\n\r\n{two}", post(one), post(two)))?;
    assert!(both.contains("\r\n\r\n2.0\nHTTP/1.1 400 Bad Request\r\n") && both.contains("row 0"), "{both}");
    assert!(ask("GET / HTTP/1.1\r\n\r\n".into())?.starts_with("HTTP/1.1 405 "));
    assert!(ask("POST / HTTP/1.1\r\n\r\n".into())?.starts_with("HTTP/1.1 411 "));
    Ok(())
}
