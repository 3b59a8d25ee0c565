/** Values of columns as row-wise formats read them: text, numbers, and lists that grow. */
package dev.stoker.formats.values;
