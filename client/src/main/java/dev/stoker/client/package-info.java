/**
 * The Java trainer client. Contains no Flink.
 */
package dev.stoker.client;
