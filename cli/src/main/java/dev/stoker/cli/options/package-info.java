/**
 * Options that several verbs have.
 */
package dev.stoker.cli.options;
