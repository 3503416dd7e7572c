//! Dead code: nodes on which no output and no effect depends. Inputs stay, since they are the signature.

use super::Rewriter;
use crate::graph::Graph;
use extenso_types::Result;

pub(crate) fn remove(mut graph: Graph) -> Result<Graph> {
    let live = graph.live_nodes();
    let mut rewriter = Rewriter::new(&graph);
    for (i, node) in std::mem::take(&mut graph.nodes).into_iter().enumerate().filter(|(i, _)| live[*i]) {
        rewriter.keep(i, node)?;
    }
    rewriter.finish(graph)
}
