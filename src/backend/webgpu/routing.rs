//! Routers and joins of what was encoded apart, a kernel each.

use std::ops::Range;

use super::{
    Tensor, WebGpu,
    parameters::{CopyParams, RouteParams, RowsParams, ScaleParams, TransformParams},
    pipeline::Kernel,
    recorder::grid,
};
use crate::{
    backend::{
        Backend, Gain, PoolTerm, Pooling, Route, Routing, Scores, Stretch, check_shape,
        routing::{check_columns, check_scale, check_shares, check_transform, check_weights},
    },
    error::Result,
};

impl WebGpu {
    /// Columns of `x` from `first` on, into the rows of `y` from `offset` on.
    fn copy(&self, x: &Tensor, first: usize, y: &Tensor, offset: usize) -> Result<()> {
        self.dispatch(
            Kernel::Copy,
            0.0,
            &CopyParams {
                rows: x.rows as u32,
                columns: y.columns as u32,
                x_columns: x.columns as u32,
                first: first as u32,
                offset: offset as u32,
                padding: [0; 3],
            },
            &[(1, &x.data), (2, &y.data)],
            grid(x.rows),
        )
    }
}

impl Routing for WebGpu {
    type Tensor = Tensor;

    fn select(&self, x: &Tensor, rows: &[u32]) -> Result<Tensor> {
        // The mean over one row.
        let terms = (0..).zip(rows).map(|(row, &start)| PoolTerm {
            row,
            block: 0,
            start,
            len: 1,
            weight: 1.0,
        });
        let pooling = Pooling {
            rows: rows.len(),
            blocks: 1,
            terms: terms.collect(),
        };
        self.pool(x, &pooling)
    }

    fn columns(&self, x: &Tensor, columns: Range<usize>) -> Result<Tensor> {
        check_columns(&columns, x.columns)?;
        let y = self.tensor(x.rows, columns.len())?;
        self.copy(x, columns.start, &y, 0)?;
        Ok(y)
    }

    fn stack(&self, x: &Tensor, y: &Tensor) -> Result<Tensor> {
        check_shape("the lower rows' width", y.columns, x.columns)?;
        let both = self.tensor(x.rows + y.rows, x.columns)?;
        self.copy(x, 0, &both, 0)?;
        self.copy(y, 0, &both, x.rows)?;
        Ok(both)
    }

    fn weights(
        &self,
        queries: &Tensor,
        keys: &Tensor,
        routes: &[Route],
        scores: Scores,
    ) -> Result<Tensor> {
        let part = check_weights(queries.shape(), keys.shape(), routes, scores)?;
        let (parts, columns) = (scores.parts(), scores.columns());
        let mut rows = 0;
        let numbers: Vec<[u32; 4]> = (routes.iter())
            .map(|route| {
                let first = rows;
                rows += route.len;
                [route.start, route.len, route.query, first]
            })
            .collect();
        let y = self.tensor(rows as usize, columns)?;
        let on_device = self.inputs(&numbers)?;
        self.dispatch(
            Kernel::Route,
            0.0,
            &RouteParams {
                routes: routes.len() as u32,
                columns: columns as u32,
                parts: parts as u32,
                part: part as u32,
                scale: 1.0 / (part as f32).sqrt(),
                padding: [0; 3],
            },
            &[
                (1, &queries.data),
                (2, &keys.data),
                (3, &on_device),
                (4, &y.data),
            ],
            grid(routes.len()),
        )?;
        Ok(y)
    }

    fn shares(&self, attention: &Tensor, stretches: &[Stretch]) -> Result<Tensor> {
        check_shares(attention.shape(), stretches)?;
        let mut rows = 0;
        let numbers: Vec<[u32; 3]> = (stretches.iter())
            .map(|stretch| {
                let first = rows;
                rows += stretch.len;
                let start = stretch.row * attention.columns as u32 + stretch.first;
                [start, stretch.len, first]
            })
            .collect();
        let y = self.tensor(rows as usize, 1)?;
        let on_device = self.inputs(&numbers)?;
        self.dispatch(
            Kernel::Shares,
            0.0,
            &RowsParams {
                rows: stretches.len() as u32,
                columns: attention.columns as u32,
                padding: [0; 2],
            },
            &[(1, &attention.data), (2, &on_device), (3, &y.data)],
            grid(stretches.len()),
        )?;
        Ok(y)
    }

    fn scale(
        &self,
        attended: &Tensor,
        rows: &[u32],
        weights: &Tensor,
        gain: Gain,
    ) -> Result<Tensor> {
        check_scale(attended.shape(), rows, weights.shape())?;
        let y = self.tensor(rows.len(), attended.columns)?;
        let on_device = self.inputs(rows)?;
        self.dispatch(
            Kernel::Scale,
            0.0,
            &ScaleParams {
                rows: rows.len() as u32,
                columns: attended.columns as u32,
                parts: weights.columns as u32,
                add: match gain {
                    Gain::OnePlusWeight => 1.0,
                    Gain::Weight => 0.0,
                },
            },
            &[
                (1, &attended.data),
                (2, &on_device),
                (3, &weights.data),
                (4, &y.data),
            ],
            grid(rows.len()),
        )?;
        Ok(y)
    }

    fn transform(&self, x: &Tensor, matrices: &Tensor, of: &[u32]) -> Result<Tensor> {
        let outputs = check_transform(x.shape(), matrices.shape(), of)?;
        let y = self.tensor(x.rows, outputs)?;
        let on_device = self.inputs(of)?;
        self.dispatch(
            Kernel::Transform,
            2.0 * (x.rows * matrices.columns) as f64,
            &TransformParams {
                rows: x.rows as u32,
                inputs: x.columns as u32,
                outputs: outputs as u32,
                padding: 0,
            },
            &[
                (1, &x.data),
                (2, &matrices.data),
                (3, &on_device),
                (4, &y.data),
            ],
            grid(x.rows),
        )?;
        Ok(y)
    }
}
