/**
 * Conditions on rows ({@code --where}), and the files whose statistics can answer them.
 */
package dev.stoker.formats.filter;
