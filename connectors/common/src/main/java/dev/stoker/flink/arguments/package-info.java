/**
 * The options and arguments of the jobs. An {@link OptionHeading} declares an option once, as a {@link JobOption}:
 * parsers, help, completion, man pages and the reference read the declaration. Arguments are parsed in the same way for
 * {@code flink run} and for the command line.
 */
package dev.stoker.flink.arguments;
