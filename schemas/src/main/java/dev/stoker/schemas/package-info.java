/**
 * Every byte layout of Stoker, and the order of the data. Contains only pure functions: no sockets, threads or file
 * systems.
 */
package dev.stoker.schemas;
