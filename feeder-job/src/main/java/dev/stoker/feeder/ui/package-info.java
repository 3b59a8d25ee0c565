/**
 * How a feeder shows what it does: a page for people, {@code /status.json} and {@code /metrics} for programs, over a small HTTP
 * server that bounds what its clients can hold. Reads {@link dev.stoker.feeder.node.FeedStatus} and nothing else; knows no Flink. Its threads are
 * its own; a slow reader of the page delays no trainer.
 */
package dev.stoker.feeder.ui;
