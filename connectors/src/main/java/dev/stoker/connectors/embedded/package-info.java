/**
 * Flink inside one process, without any socket: no REST endpoint, no BlobServer, no RPC or data port. Independent of
 * the jobs that run. The threads are Flink's.
 */
package dev.stoker.connectors.embedded;
