/** Tests of Flink inside one process, and of the sockets of a process. */
package dev.stoker.flink.embedded;
