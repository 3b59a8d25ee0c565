/**
 * Flink inside one process, without any socket: no REST endpoint, no BlobServer, no RPC or data port. Knows nothing of what jobs
 * do. The threads are Flink's.
 */
package dev.stoker.connectors.embedded;
