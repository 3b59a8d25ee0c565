/**
 * Help, man pages and completion of the command.
 */
package dev.stoker.cli.help;
