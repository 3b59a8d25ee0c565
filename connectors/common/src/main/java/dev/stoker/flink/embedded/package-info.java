/**
 * Runs Flink inside one process without any socket: no REST endpoint, no BlobServer, no RPC or data port. This package
 * is independent of the jobs. The threads are Flink's.
 */
package dev.stoker.flink.embedded;
