/**
 * Shows the state of a feeder: a page for people, and {@code /status.json} and {@code /metrics} for programs, over a
 * small HTTP server that bounds the resources of its clients. This package reads only {@link
 * dev.stoker.server.feed.FeedStatus} and does not use Flink. It has its own threads, so a slow reader of the page
 * delays no trainer.
 */
package dev.stoker.server.ui;
