//! What a template looks at of what it gets.

mod expressions;
mod flow;
mod looked_at;
mod statements;
