CREATE TABLE a (id int, label text);
INSERT INTO a VALUES (0, 'cat');
INSERT INTO a VALUES (1, 'dog');
INSERT INTO a VALUES (2, 'owl');
INSERT INTO a VALUES (3, 'dog');
INSERT INTO a VALUES (4, 'cat');
INSERT INTO a VALUES (5, 'dog');
INSERT INTO a VALUES (6, 'owl');
INSERT INTO a VALUES (7, 'dog');
