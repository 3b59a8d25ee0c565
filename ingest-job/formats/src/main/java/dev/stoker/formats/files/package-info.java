/** Keys of samples as paths of files and of members of archives. Only text, no file system. */
package dev.stoker.formats.files;
