/** CSV with a header: RFC 4180, in UTF-8, with one of four delimiters. */
package dev.stoker.formats.csv;
