/**
 * The arguments of the two jobs: one way to turn {@code --option value} into Flink's typed options, used by
 * {@code flink run} and by the command line alike. Pure functions.
 */
package dev.stoker.connectors.options;
