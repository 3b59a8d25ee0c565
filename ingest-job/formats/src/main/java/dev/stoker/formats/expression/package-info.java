/**
 * Conditions on rows in the words of SQL, such as {@code age >= 18 AND label IN ('cat', 'dog')}: parses them and
 * checks them against the columns of a source. Depends on the parent package alone; it starts no threads.
 */
package dev.stoker.formats.expression;
