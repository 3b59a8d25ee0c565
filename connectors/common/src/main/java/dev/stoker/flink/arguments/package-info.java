/**
 * The arguments of the jobs: parses {@code --option value} into Flink's typed options, in the same way for {@code
 * flink run} and for the command line. Contains only pure functions.
 */
package dev.stoker.flink.arguments;
