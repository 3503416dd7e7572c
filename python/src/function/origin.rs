//! Where an op is called in Python while a function is traced: the line of the innermost frame outside the package.

use extenso_graph::Origin;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::cell::RefCell;
use std::sync::Arc;

/// What finds frames, and where the files of the package are.
static FRAMES: PyOnceLock<Option<(Py<PyAny>, String)>> = PyOnceLock::new();

thread_local! {
    /// The file of the last place: ops that follow each other are mostly called in one.
    static LAST: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
}

/// The place at which Python calls an op now; none outside Python.
pub fn find() -> Option<Origin> {
    Python::try_attach(|py| place(py).ok().flatten()).flatten()
}

fn place(py: Python<'_>) -> PyResult<Option<Origin>> {
    let Some((getframe, package)) = FRAMES.get_or_init(py, || frames(py).ok()) else { return Ok(None) };
    let Ok(mut frame) = getframe.bind(py).call0() else { return Ok(None) };
    loop {
        let file = frame.getattr(pyo3::intern!(py, "f_code"))?.getattr(pyo3::intern!(py, "co_filename"))?;
        let file: &str = &file.extract::<std::borrow::Cow<'_, str>>()?;
        if !file.starts_with(package.as_str()) {
            let line = frame.getattr(pyo3::intern!(py, "f_lineno"))?.extract()?;
            return Ok(Some(Origin { file: shared(file), line }));
        }
        frame = frame.getattr(pyo3::intern!(py, "f_back"))?;
        if frame.is_none() {
            return Ok(None);
        }
    }
}

fn frames(py: Python<'_>) -> PyResult<(Py<PyAny>, String)> {
    let place: String = py.import("extenso")?.getattr("__file__")?.extract()?;
    let package = place.strip_suffix("__init__.py").unwrap_or(&place);
    Ok((py.import("sys")?.getattr("_getframe")?.unbind(), package.to_string()))
}

fn shared(file: &str) -> Arc<str> {
    LAST.with_borrow_mut(|last| match last {
        Some(last) if **last == *file => last.clone(),
        last => last.insert(file.into()).clone(),
    })
}
