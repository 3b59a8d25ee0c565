/** Work on many chunks, which threads of this process or other machines do. */
package dev.stoker.metadata.work;
