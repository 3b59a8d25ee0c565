/**
 * Starts and ends Flink jobs, in this process or on a cluster, in one way for all jobs. The package knows neither the
 * graphs of the jobs nor what users see of them. A launcher and its job belong to one thread; other threads are
 * Flink's.
 */
package dev.stoker.flink.launch;
