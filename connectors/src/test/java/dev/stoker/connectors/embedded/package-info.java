/** Tests of Flink inside one process, and which sockets a process has. */
package dev.stoker.connectors.embedded;
