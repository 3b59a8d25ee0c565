package dev.stoker.formats.csv;

import dev.stoker.formats.RowSchema;

/**
 * The columns of a file.
 *
 * @param schema the columns
 * @param indexes the place of each column in a record, or -1 if the file does not have it
 * @param width number of values in a record
 */
record CsvColumns(RowSchema schema, int[] indexes, int width) {}
